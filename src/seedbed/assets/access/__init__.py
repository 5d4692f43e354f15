"""Who may do what: users, roles, memberships, passwords, tokens and the audit log."""
