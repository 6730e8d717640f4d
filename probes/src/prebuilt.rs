//! The built eBPF objects, for embedding into a loader.
