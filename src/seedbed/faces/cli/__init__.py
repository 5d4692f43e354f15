"""The command line: every command speaks REST, to a server or to the same app within this process."""
