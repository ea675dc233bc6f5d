# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of one provider and keeps what came of them; prints the matrix of all."""

import os
import threading
import time
import traceback

from checks import FEATURES, Case
from resource_server import ResourceServer

OK, UNSUPPORTED, FAILED = "ok", "–", "FAIL"

_output = threading.Lock()


def say(line):
    with _output:
        print(line, flush=True)


class Column:
    """A provider's results by feature."""

    def __init__(self, provider_type, directory, chosen=None):
        self.provider_type, self.directory, self.chosen = provider_type, directory, chosen
        # A busy machine makes a check late; what fails twice is broken, and so is what fails often.
        self.second_tries = 3 if os.environ.get("SECOND_TRY") else 0
        self.results = {}
        self.failures = []
        self.seconds = 0.0

    @property
    def name(self):
        return self.provider_type.name

    def run(self):
        """Boots the provider, tries everything, and stops it."""
        began = time.monotonic()
        provider = api = None
        try:
            provider = self.provider_type(os.path.join(self.directory, self.name))
            provider.start()
            say(f"{self.name}: up after {time.monotonic() - began:.1f} s")
            api = ResourceServer(provider.validation())
            self._try_features(provider, api)
        except Exception as error:
            self._record("boot", FAILED, error)
        finally:
            if api:
                api.stop()
            if provider:
                provider.stop()
        self.seconds = time.monotonic() - began

    def _try_features(self, provider, api):
        identities = provider.identities()
        checks = {**FEATURES, **provider.own_checks()}
        for number, (feature, check) in enumerate(checks.items()):
            if self.chosen and not any(word in feature for word in self.chosen):
                continue
            wanted = identities.get(feature)
            if wanted is None:
                self.results[feature] = UNSUPPORTED
                continue
            began = time.monotonic()
            variants = wanted if isinstance(wanted, list) else [wanted]
            for attempt in range(2):
                try:
                    for variant, identity in enumerate(variants):
                        directory = os.path.join(provider.directory, f"{number}-{variant}-{attempt}")
                        self._try(check, provider, api, directory, identity)
                    self._record(feature, OK, seconds=time.monotonic() - began)
                except Exception as error:
                    self._record(feature, FAILED, error)
                if self.results[feature] == OK or not self.second_tries:
                    break
                self.second_tries -= 1

    @staticmethod
    def _try(check, provider, api, directory, identity):
        os.makedirs(directory)
        case = Case(provider, api, directory, identity)
        try:
            check(case)
        finally:
            case.clean()

    def _record(self, feature, result, error=None, seconds=None):
        self.results[feature] = result
        line = f"{self.name}: {feature}: {result}" + (f" ({seconds:.1f} s)" if seconds else "")
        if error:
            line += f": {error}" if isinstance(error, AssertionError) else (
                "\n" + "".join(traceback.format_exception(error)))
        if result == FAILED:
            self.failures.append(line)
        say(line)


def print_matrix(columns):
    """Features down, providers across."""
    features = list(dict.fromkeys(feature for column in columns for feature in column.results))
    width = max(map(len, features), default=0)
    widths = [max(len(column.name), 5) for column in columns]
    print()
    print(" " * width + "  " + "  ".join(column.name.ljust(w) for column, w in zip(columns, widths)))
    for feature in features:
        cells = (column.results.get(feature, UNSUPPORTED).ljust(w) for column, w in zip(columns, widths))
        print(feature.ljust(width) + "  " + "  ".join(cells))
    print(f"\n{OK}: works; {UNSUPPORTED}: the provider does not offer it; {FAILED}: see below")
    for column in columns:
        for failure in column.failures:
            print(failure)
