//! Lists without repetitions.

/// Numbers, each once, in the order in which they came first: a list, and a table with open addressing
/// that says what is in it. For lists of some dozens that are asked for often, as those of neighbors:
/// each number is looked up in a step or two, where a search would compare it with half the list.
pub(super) struct Distinct {
    values: Vec<u32>,
    /// A power of two of places, few of them taken: a list and a number in it, of 32 bits each.
    /// Places with a list before this one are free.
    table: Vec<u64>,
    /// Right shift, in bits, that makes a hash a place in the table.
    shift: u32,
    /// Number of this list in the upper 32 bits; the first is 1.
    list: u64,
}

/// Places at first: few of 27 neighbors collide, and they fit the nearest cache.
const PLACES: usize = 1024;
/// Places per number at least.
const SPARSE: usize = 8;
/// Step from a list to the next one.
const NEXT: u64 = 1 << 32;

impl Distinct {
    pub fn new() -> Self {
        let shift = u32::BITS - PLACES.ilog2();
        Self { values: Vec::new(), table: vec![0; PLACES], shift, list: NEXT }
    }

    /// Takes all numbers out.
    pub fn clear(&mut self) {
        self.values.clear();
        self.list = self.list.wrapping_add(NEXT);
        if self.list == 0 {
            self.table.fill(0);
            self.list = NEXT;
        }
    }

    /// Inserts a number, unless the list has it.
    #[inline]
    pub fn insert(&mut self, value: u32) {
        let entry = self.list | u64::from(value);
        let place = self.first_place(value);
        for place in place.. {
            let place = place & (self.table.len() - 1);
            if self.table[place] == entry {
                return;
            }
            if self.table[place] < self.list {
                self.table[place] = entry;
                break;
            }
        }
        self.values.push(value);
        if SPARSE * self.values.len() > self.table.len() {
            self.grow();
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

    /// Returns the place where the search for `value` begins.
    #[inline]
    fn first_place(&self, value: u32) -> usize {
        // Fibonacci hashing: consecutive numbers, as nodes of a chord have, go far apart.
        (value.wrapping_mul(0x9e37_79b9) >> self.shift) as usize
    }

    fn grow(&mut self) {
        self.table = vec![0; 2 * self.table.len()];
        self.shift -= 1;
        for value in std::mem::take(&mut self.values) {
            self.insert(value);
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
