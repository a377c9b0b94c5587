"""Facts about IR programs: access regions, dependence, bounds, races (Z3 behind one small interface)."""
