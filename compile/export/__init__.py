"""The exporter: tables and kernels for programs without Python."""
