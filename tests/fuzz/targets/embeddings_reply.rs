//! Reads any bytes as the response of an embedding back end. The first byte is the number of texts sent.
#![no_main]

use docent_domain::fault::FaultKind;
use docent_models::openai::fuzzing::vectors;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((count, body)) = data.split_first() else { return };
    let count = usize::from(count % 8);
    match vectors(body, count) {
        Ok(vectors) => {
            assert_eq!(vectors.len(), count);
            for vector in vectors {
                let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>();
                assert!((length - 1.0).abs() < 1e-3, "a length of {length}");
            }
        }
        Err(fault) => assert_eq!(fault.kind(), FaultKind::InvalidResponse),
    }
});
