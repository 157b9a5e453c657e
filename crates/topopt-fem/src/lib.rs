//! Linear elasticity on hex8: elements, supports, loads, operators.
