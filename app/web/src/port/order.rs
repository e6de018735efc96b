//! Sorting for lists that are short or nearly sorted. The library's sort is faster on long ones, but every type it sorts
//! is code that everybody downloads.

/// Sorts by insertion; what is equal keeps its order.
pub fn sort_few<T>(items: &mut [T], earlier: impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && earlier(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort_few;

    #[test]
    fn equal_items_keep_their_order() {
        let mut items = [(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd'), (0, 'e')];
        sort_few(&mut items, |a, b| a.0 < b.0);
        assert_eq!(items, [(0, 'e'), (1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
        sort_few::<u8>(&mut [], |a, b| a < b);
    }
}
