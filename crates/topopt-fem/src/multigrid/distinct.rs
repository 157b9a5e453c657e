//! Lists without repetitions.

/// Numbers, each once, in the order in which they came first: a list, and a table with open addressing
/// that says what is in it. For lists of some dozens that are asked for often, as those of neighbors:
/// each number is looked up in a step or two, where a search would compare it with half the list.
pub(super) struct Distinct {
    values: Vec<u32>,
    /// A power of two of places, at most half of them taken; [`EMPTY`] in the others.
    table: Vec<u32>,
}

/// No number of a list.
const EMPTY: u32 = u32::MAX;

/// Places at first: 64 neighbors fit, and a node inside a grid has 26.
const PLACES: usize = 128;

impl Distinct {
    pub fn new() -> Self {
        Self { values: Vec::new(), table: vec![EMPTY; PLACES] }
    }

    /// Takes all numbers out.
    pub fn clear(&mut self) {
        self.values.clear();
        self.table.fill(EMPTY);
    }

    /// Puts in a number less than [`u32::MAX`], unless it is there.
    #[inline]
    pub fn insert(&mut self, value: u32) {
        let place = self.place(value);
        if self.table[place] == EMPTY {
            self.table[place] = value;
            self.values.push(value);
            if 2 * self.values.len() > self.table.len() {
                self.grow();
            }
        }
    }

    /// The numbers.
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// The numbers, increasing.
    pub fn sorted(&self) -> Vec<u32> {
        let mut values = self.values.clone();
        values.sort_unstable();
        values
    }

    /// Where `value` is in the table, or has to go.
    #[inline]
    fn place(&self, value: u32) -> usize {
        // Fibonacci hashing: consecutive numbers, as nodes of a chord have, go far apart.
        let hash = value.wrapping_mul(0x9e37_79b9) >> (u32::BITS - self.table.len().ilog2());
        let mut place = hash as usize;
        while self.table[place] != value && self.table[place] != EMPTY {
            place = (place + 1) & (self.table.len() - 1);
        }
        place
    }

    fn grow(&mut self) {
        self.table = vec![EMPTY; 2 * self.table.len()];
        for i in 0..self.values.len() {
            let place = self.place(self.values[i]);
            self.table[place] = self.values[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_there_once_in_the_order_of_the_first() {
        let mut distinct = Distinct::new();
        for n in [3u32, 40, 700] {
            let values = (0..10 * n).map(|i| i.wrapping_mul(i).wrapping_mul(7919) % n);
            let mut expected: Vec<u32> = Vec::new();
            for value in values.clone() {
                if !expected.contains(&value) {
                    expected.push(value);
                }
            }

            distinct.clear();
            values.for_each(|value| distinct.insert(value));
            assert_eq!(distinct.values(), expected);
            expected.sort_unstable();
            assert_eq!(distinct.sorted(), expected);
        }
    }
}
