"""Functions that need both the compiler and the runtime. Outside of this package, neither imports the other."""
