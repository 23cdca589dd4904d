"""The program behind `boot`: a private network, a server, a machine, and what happened."""
