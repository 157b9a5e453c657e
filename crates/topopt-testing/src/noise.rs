//! Pseudo-random numbers, the same on every machine.

/// A linear congruential generator; the number is its seed.
pub struct Noise(pub u64);

impl Noise {
    /// The next number in [-1, 1).
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// The next `n` numbers in [-1, 1).
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}
