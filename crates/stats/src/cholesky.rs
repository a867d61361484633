//! Solving small symmetric systems.

/// Solves `matrix · x = vector` for a positive definite matrix (row by row); none if it is not.
#[must_use]
pub fn solve(matrix: &[Vec<f64>], vector: &[f64]) -> Option<Vec<f64>> {
    let size = vector.len();
    let mut lower: Vec<Vec<f64>> = Vec::with_capacity(size);
    for (row, entries) in matrix.iter().enumerate() {
        let mut built: Vec<f64> = Vec::with_capacity(row + 1);
        for (column, entry) in entries.iter().enumerate().take(row + 1) {
            let above: &[f64] = lower.get(column).unwrap_or(&built);
            let rest = entry - built.iter().zip(above).take(column).map(|(a, b)| a * b).sum::<f64>();
            if column < row {
                built.push(rest / lower[column][column]);
            } else if rest > 0.0 {
                built.push(rest.sqrt());
            } else {
                return None;
            }
        }
        lower.push(built);
    }
    let mut solution = vector.to_vec();
    for row in 0..size {
        let known: f64 = (0..row).map(|column| lower[row][column] * solution[column]).sum();
        solution[row] = (solution[row] - known) / lower[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|column| lower[column][row] * solution[column]).sum();
        solution[row] = (solution[row] - known) / lower[row][row];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn a_known_system() {
        let matrix = [vec![4.0, 2.0, -2.0], vec![2.0, 10.0, 2.0], vec![-2.0, 2.0, 6.0]];
        let solution = solve(&matrix, &[2.0, 28.0, 20.0]).unwrap();
        for (found, expected) in solution.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{solution:?}");
        }
        assert_eq!(solve(&[vec![1.0, 2.0], vec![2.0, 1.0]], &[1.0, 1.0]), None);
    }
}
