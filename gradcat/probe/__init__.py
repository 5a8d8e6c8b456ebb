"""Running the probes: the parent (`runner`) imports no torch; the child (`worker`) does."""
