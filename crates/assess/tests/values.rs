//! Values files go round, and say what is wrong with them.
#![allow(clippy::unwrap_used)]

use std::io;

use anqi_assess::{Sample, Samples, Tag, ValuesError, ValuesFile};
use anqi_stats::Points;
use proptest::prelude::*;

fn sample() -> impl Strategy<Value = Sample> {
    let value = prop_oneof![any::<f64>().prop_filter("a number", |v| !v.is_nan()), Just(f64::INFINITY), Just(0.25)];
    let result = prop_oneof![Just(Points::Loss), Just(Points::Draw), Just(Points::Win)];
    // Readers trim cells, so words do not begin or end with blanks.
    let word = "[a-z\",;\u{6697}]{0,4}";
    ("[0-9a-z,\"]{1,3}", 0_u32..1 << 31, value, result, word).prop_map(|(game, ply, value, result, word)| Sample {
        game,
        ply,
        value,
        result,
        tags: if word.is_empty() { Vec::new() } else { vec![("side".to_owned(), Tag::from(word))] },
    })
}

proptest! {
    #[test]
    fn files_go_round(list in prop::collection::vec(sample(), 0..40)) {
        let mut samples = Samples::default();
        list.iter().for_each(|sample| samples.push(sample.clone()).unwrap());
        let mut csv = Vec::new();
        samples.write_csv(&mut csv).unwrap();
        prop_assert_eq!(&ValuesFile::read_csv(&csv[..]).unwrap().samples, &samples);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("values");
        samples.write_parquet(std::fs::File::create(&path).unwrap()).unwrap();
        let back = ValuesFile::read(&path).unwrap();
        prop_assert!(back.skipped.is_empty());
        prop_assert_eq!(back.samples.iter().collect::<Vec<_>>(), list);
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9,\"\n#.-]{0,200}") {
        let _ = ValuesFile::read_csv(format!("value,result\n{text}").as_bytes());
        let _ = ValuesFile::read_csv(text.as_bytes());
    }
}

#[test]
fn every_bad_row_is_counted() {
    let text = "value,result,game,ply,tag\n\
        0.5,1,a,1,x\n0.5,1,a\n#7,loss,a,2,x\n#-2,1/2,a,3,x\nNaN,1,a,4,x\n,1,a,4,x\n0.5,1-0,a,4,x\n0.5,1,a,-4,x\n-inf,0,b,5,\n";
    let file = ValuesFile::read_csv(text.as_bytes()).unwrap();
    assert_eq!(file.samples.values(), [0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);
    let counts: Vec<(&str, u64)> =
        file.skipped.reasons().iter().map(|skip| (skip.reason.as_str(), skip.count)).collect();
    assert_eq!(
        counts,
        [
            ("damaged row", 1),
            ("value that is not a number", 2),
            ("unknown result", 1),
            ("ply that is not a whole number", 1)
        ]
    );
    assert_eq!(file.skipped.count() as usize + file.samples.len(), 9);
    assert_eq!(file.skipped.reasons()[0].first, "line 3: 3 fields, expected 5");
}

#[test]
fn a_file_without_results_is_refused() {
    let error = ValuesFile::read_csv("value,winner\n1,1\n".as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "no column \"result\", there are: value, winner");
    let error = ValuesFile::read_csv("value,result,value\n1,1,1\n".as_bytes()).unwrap_err();
    assert!(matches!(error, ValuesError::TwoColumns(_)));
}

#[test]
fn damaged_parquet_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("values.parquet");
    let mut samples = Samples::default();
    let sample = Sample { game: "g".to_owned(), ply: 3, value: 1.5, result: Points::Draw, tags: Vec::new() };
    (0..50).for_each(|_| samples.push(sample.clone()).unwrap());
    samples.write_parquet(std::fs::File::create(&path).unwrap()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for length in [4, 8, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert!(ValuesFile::read(&path).is_err(), "{length} bytes");
    }
}

/// Parquet from elsewhere, all of it words.
fn words_in_parquet(path: &std::path::Path, columns: &[(&str, &[&str])]) {
    use parquet::basic::{LogicalType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;
    let column = |name: &str| {
        let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_repetition(Repetition::REQUIRED);
        column.with_logical_type(Some(LogicalType::String)).build().unwrap().into()
    };
    let fields = columns.iter().map(|(name, _)| column(name)).collect();
    let schema = Type::group_type_builder("words").with_fields(fields).build().unwrap().into();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for (_, words) in columns {
        let words: Vec<ByteArray> = words.iter().map(|word| ByteArray::from(*word)).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&words, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn every_bad_row_of_parquet_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("values.parquet");
    words_in_parquet(
        &path,
        &[
            ("value", &["0.5", "#7", "NaN", "", "0.5", "0.5", "-inf", "#-2"]),
            ("result", &["1", "loss", "1", "1", "1-0", "1", "0", "draw"]),
            ("game", &["a", "a", "a", "a", "a", "a", "b", "b"]),
            ("ply", &["1", "2", "3", "4", "5", "-4", "6", "7"]),
        ],
    );
    let file = ValuesFile::read(&path).unwrap();
    assert_eq!(file.samples.values(), [0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);
    assert_eq!(file.samples.results(), [Points::Win, Points::Loss, Points::Loss, Points::Draw]);
    assert_eq!(
        file.skipped.to_string(),
        "2 × value that is not a number, first row 3: \"NaN\"\n1 × unknown result, first row 5: \"1-0\"\n\
         1 × ply that is not a whole number, first row 6: \"-4\"\n"
    );
    words_in_parquet(&path, &[("value", &["1"]), ("winner", &["1"])]);
    assert_eq!(ValuesFile::read(&path).unwrap_err().to_string(), "no column \"result\", there are: value, winner");
}

/// Numbers that are none, in a column of numbers.
#[test]
fn a_parquet_of_numbers_with_nan() {
    use parquet::basic::{Repetition, Type as Physical};
    use parquet::data_type::DoubleType;
    use parquet::schema::types::Type;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("values.parquet");
    let column = |name| {
        Type::primitive_type_builder(name, Physical::DOUBLE)
            .with_repetition(Repetition::REQUIRED)
            .build()
            .unwrap()
            .into()
    };
    let schema =
        Type::group_type_builder("numbers").with_fields(vec![column("value"), column("result")]).build().unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = parquet::file::writer::SerializedFileWriter::new(file, schema.into(), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for numbers in [[0.25, f64::NAN, f64::INFINITY, 0.5], [1.0, 1.0, 0.0, 0.75]] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let file = ValuesFile::read(&path).unwrap();
    assert_eq!(file.samples.values(), [0.25, f64::INFINITY]);
    assert_eq!(file.skipped.count(), 2);
    assert!(file.skipped.to_string().contains("unknown result, first row 4: \"0.75\""), "{}", file.skipped);
}

/// A row without end is not kept in memory: neither one of zeros nor one in quotes over many lines.
#[test]
fn a_row_of_csv_is_bounded() {
    let head = "value,result\n0.5,1\n";
    for endless in [io::Read::chain(&b"\""[..], io::repeat(b'\n')), io::Read::chain(&b""[..], io::repeat(0))] {
        let error = ValuesFile::read_csv(io::Read::chain(head.as_bytes(), endless)).unwrap_err();
        assert_eq!(error.to_string(), "a row has more than 1048576 bytes, the most that one may have");
    }
    // Many rows together may be as long as they like.
    let many = format!("{head}{}", "0.25,0\n".repeat(400_000));
    assert_eq!(ValuesFile::read_csv(many.as_bytes()).unwrap().samples.len(), 400_001);
}
