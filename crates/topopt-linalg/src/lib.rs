//! Vectors on a backend, linear operators, preconditioned conjugate gradients.
