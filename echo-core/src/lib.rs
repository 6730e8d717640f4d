//! Servers and the load generator.
