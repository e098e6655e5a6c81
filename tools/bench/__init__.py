"""All that measures: programs, how they are compiled and run, and the tables of `benches`."""
