"""The C library: its declarations, its loading, and the engines that calls queue up for."""
