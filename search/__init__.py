"""The search: states, actions, strategies, tuning, budgets, records and resume."""
