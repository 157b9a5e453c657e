//! SIMP, filters, optimality criteria and the design loop.
