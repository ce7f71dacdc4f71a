"""Does this implementation keep the contract? Suites for your own component or engine."""
