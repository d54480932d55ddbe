//! Vectors: how near two are, and how one is kept.

/// The vector of length 1 in the same direction; one without a direction stays as it is.
///
/// # Errors
/// In words, where it is empty or has a number that is none.
pub fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
    if vector.is_empty() {
        return Err("a vector without numbers".to_owned());
    }
    if vector.iter().any(|number| !number.is_finite()) {
        return Err("a vector with a number that is not finite".to_owned());
    }
    let squares = vector.iter().map(|n| f64::from(*n) * f64::from(*n));
    let length = squares.sum::<f64>().sqrt();
    if length > 0.0 {
        for number in &mut vector {
            *number = (f64::from(*number) / length) as f32;
        }
    }
    Ok(vector)
}

/// How near two vectors of length 1 are: 1 for the same direction, -1 for the opposite. `None` where their lengths in numbers differ.
pub fn nearness(a: &[f32], b: impl ExactSizeIterator<Item = f32>) -> Option<f32> {
    if a.len() != b.len() {
        return None;
    }
    // Sums of their own for every eighth, which the machine adds side by side.
    let mut sums = [0f32; 8];
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        if let Some(sum) = sums.get_mut(index % 8) {
            *sum += a * b;
        }
    }
    Some(sums.iter().sum::<f32>().clamp(-1.0, 1.0))
}

/// Its bytes, four a number, the lowest first.
pub fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// The numbers in such bytes.
pub fn numbers(bytes: &[u8]) -> impl ExactSizeIterator<Item = f32> {
    bytes
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap_or_default()))
}
