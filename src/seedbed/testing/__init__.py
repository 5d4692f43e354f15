"""Conformance suites and fakes for people who add an executor, an algorithm, a policy or a store."""
