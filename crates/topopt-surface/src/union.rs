//! Sets that are joined.

/// Numbers in sets, each with its smallest member as the root.
pub(crate) struct Union {
    parent: Vec<u32>,
}

impl Union {
    /// `n` sets of one number each.
    pub fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    pub fn root(&mut self, mut member: u32) -> u32 {
        while self.parent[member as usize] != member {
            let above = self.parent[self.parent[member as usize] as usize];
            self.parent[member as usize] = above;
            member = above;
        }
        member
    }

    /// Numbers of the sets, in the order of their smallest members, and how many there are.
    pub fn numbers(mut self) -> (Vec<u32>, usize) {
        let mut numbers = vec![0; self.parent.len()];
        let mut n = 0;
        for member in 0..self.parent.len() as u32 {
            // The root is the smallest member, so that it comes first.
            let root = self.root(member);
            numbers[member as usize] = if root == member {
                n += 1;
                n - 1
            } else {
                numbers[root as usize]
            };
        }
        (numbers, n as usize)
    }
}
