"""What a user did or met that gradcat cannot go on from."""


class GradcatError(Exception):
    """An error whose message names the thing, the place and the remedy. The command line prints it and exits with 2."""
