"""The Bot protocol and bots that play inside the process."""
