//! What is under way, in the order it began. Keys grow, so that a new entry nearly always goes to the end; and a table of few
//! entries, which most are, is one row.

/// Entries by growing keys.
#[derive(Debug)]
pub(super) struct Table<K, V>(Vec<(K, Box<V>)>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V> Table<K, V> {
    fn place(&self, key: K) -> Option<usize> {
        // The oldest is asked for most of the time.
        match self.0.first() {
            Some((first, _)) if *first == key => Some(0),
            Some(_) => self.0.binary_search_by_key(&key, |(key, _)| *key).ok(),
            None => None,
        }
    }

    /// Adds an entry under a key that has none.
    pub(super) fn insert(&mut self, key: K, value: V) {
        let behind = self.0.last().is_none_or(|(last, _)| *last < key);
        let place = if behind { self.0.len() } else { self.0.partition_point(|(before, _)| *before < key) };
        self.0.insert(place, (key, Box::new(value)));
    }

    pub(super) fn get(&self, key: K) -> Option<&V> {
        self.place(key).map(|place| &*self.0[place].1)
    }

    pub(super) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.place(key).map(|place| &mut *self.0[place].1)
    }

    pub(super) fn remove(&mut self, key: K) -> Option<Box<V>> {
        self.place(key).map(|place| self.0.remove(place).1)
    }

    /// All, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, &V)> + Clone {
        self.0.iter().map(|(key, value)| (*key, &**value))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_whatever_goes_between() {
        let mut table = Table::default();
        (0..100u64).for_each(|key| table.insert(key * 2, key));
        (0..100).filter(|key| key % 3 == 0).for_each(|key| assert_eq!(table.remove(key * 2), Some(Box::new(key))));
        for key in 0..100 {
            assert_eq!(table.get(key * 2).copied(), (key % 3 != 0).then_some(key));
            assert_eq!(table.get(key * 2 + 1), None);
        }
        assert_eq!((table.len(), table.iter().next()), (66, Some((2, &1))));
    }
}
