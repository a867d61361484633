//! Values files: samples as CSV or Parquet, from any source and for any use.
//!
//! Columns by name: `value` and `result` (1, ½ or 0, or win, draw, loss; seen by the player whose value it is) must be
//! there, `game` and `ply` should be, and every other column is a tag.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use anqi_rules::excerpt;
use anqi_stats::Points;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::types::Type;

use crate::sample::{Sample, Samples, Words};
use crate::skipped::Skipped;
use crate::tag::Tag;

/// Why a file gives no samples at all. Rows that are bad by themselves are [`Skipped`] instead.
#[derive(Debug, thiserror::Error)]
pub enum ValuesError {
    /// The file cannot be opened, read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A column that must be there is not.
    #[error("no column {missing:?}, there are: {found}")]
    NoColumn {
        /// The column.
        missing: &'static str,
        /// Those that there are.
        found: String,
    },
    /// A column that is there more than once.
    #[error("there are two columns {0:?}")]
    TwoColumns(String),
    /// Not Parquet, or damaged.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// Not CSV at all.
    #[error("{0}")]
    Csv(#[from] csv::Error),
}

/// Samples, and the rows that gave none.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ValuesFile {
    /// The good rows.
    pub samples: Samples,
    /// The others.
    pub skipped: Skipped,
}

const FIXED: [&str; 4] = ["value", "result", "game", "ply"];
const PARQUET_MAGIC: &[u8] = b"PAR1";
/// The most bytes that are read for one row of CSV.
const LONGEST_ROW: usize = 1 << 20;
/// The most bytes of a Parquet file that describe its columns.
const LONGEST_DESCRIPTION: u32 = 16 << 20;

/// An input that fails when more is read of it than there is room for: a row is kept whole in memory.
struct Bounded<'a, R> {
    input: R,
    room: &'a Cell<usize>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let left = self.room.get().checked_sub(read);
        let too_long = || {
            let what = format!("a row has more than {LONGEST_ROW} bytes, the most that one may have");
            io::Error::new(io::ErrorKind::FileTooLarge, what)
        };
        self.room.set(left.ok_or_else(too_long)?);
        Ok(read)
    }
}

impl ValuesFile {
    /// Reads a file in either format, whatever its name is.
    ///
    /// # Errors
    /// If it cannot be read, or has no columns `value` and `result`.
    pub fn read(path: &Path) -> Result<ValuesFile, ValuesError> {
        let mut magic = Vec::new();
        File::open(path)?.take(PARQUET_MAGIC.len() as u64).read_to_end(&mut magic)?;
        let file = File::open(path)?;
        if magic == PARQUET_MAGIC { ValuesFile::read_parquet(file) } else { ValuesFile::read_csv(file) }
    }

    /// Reads CSV with a line of names.
    ///
    /// ```
    /// use anqi_assess::ValuesFile;
    ///
    /// let text = "game,value,result,opening\n1,0.7,1,a\n1,nan,1,a\n2,0.4,?,b\n";
    /// let file = ValuesFile::read_csv(text.as_bytes())?;
    /// assert_eq!(file.samples.len(), 1);
    /// assert_eq!(
    ///     file.skipped.to_string(),
    ///     "1 × value that is not a number, first line 3: \"nan\"\n1 × unknown result, first line 4: \"?\"\n"
    /// );
    /// # Ok::<(), anqi_assess::ValuesError>(())
    /// ```
    ///
    /// # Errors
    /// If it cannot be read, or has no columns `value` and `result`.
    pub fn read_csv(input: impl Read) -> Result<ValuesFile, ValuesError> {
        let room = Cell::new(LONGEST_ROW);
        let input = Bounded { input, room: &room };
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(input);
        // Some programs begin a file with a mark of its byte order.
        let blank = |c: char| c == '\u{feff}' || c.is_whitespace();
        let names: Vec<String> = reader.headers()?.iter().map(|name| name.trim_matches(blank).to_owned()).collect();
        let mut rows = Rows::new(names)?;
        let mut record = csv::StringRecord::new();
        loop {
            let line = reader.position().line();
            room.set(LONGEST_ROW);
            match reader.read_record(&mut record) {
                Ok(false) => return Ok(rows.file),
                Ok(true) => {
                    let line = record.position().map_or(line, csv::Position::line);
                    rows.add(|| format!("line {line}"), record.len(), |column| record.get(column).unwrap_or_default());
                }
                Err(error) if error.is_io_error() => return Err(error.into()),
                Err(error) => rows.file.skipped.add("damaged row", || format!("line {line}: {error}")),
            }
        }
    }

    /// Reads Parquet.
    ///
    /// # Errors
    /// If it cannot be read, or has no columns `value` and `result`.
    pub fn read_parquet(mut input: File) -> Result<ValuesFile, ValuesError> {
        // Before its last eight bytes is the description of all columns, which is read whole.
        let mut end = [0; 8];
        input.seek(SeekFrom::End(-(end.len() as i64)))?;
        input.read_exact(&mut end)?;
        let description = u32::from_le_bytes([end[0], end[1], end[2], end[3]]);
        if description > LONGEST_DESCRIPTION {
            let what =
                format!("its description has {description} bytes, the most that is read is {LONGEST_DESCRIPTION}");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what).into());
        }
        let reader = SerializedFileReader::new(input)?;
        let schema = reader.metadata().file_metadata().schema().get_fields();
        let mut rows = Rows::new(schema.iter().map(|field| field.name().to_owned()).collect())?;
        for (number, row) in (1..).zip(reader.get_row_iter(None)?) {
            let texts: Vec<String> = row?.get_column_iter().map(|(_, field)| text(field)).collect();
            rows.add(|| format!("row {number}"), texts.len(), |column| texts.get(column).map_or("", String::as_str));
        }
        Ok(rows.file)
    }
}

fn text(field: &Field) -> String {
    match field {
        Field::Str(text) => text.clone(),
        Field::Null => String::new(),
        Field::Double(number) => number.to_string(),
        Field::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}

/// Rows of text on their way to samples.
struct Rows {
    names: Vec<String>,
    places: [Option<usize>; 4],
    file: ValuesFile,
}

impl Rows {
    fn new(names: Vec<String>) -> Result<Rows, ValuesError> {
        if let Some(twice) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
            return Err(ValuesError::TwoColumns(excerpt(twice.1)));
        }
        let places = FIXED.map(|fixed| names.iter().position(|name| name == fixed));
        for (missing, place) in FIXED.into_iter().zip(places).take(2) {
            if place.is_none() {
                return Err(ValuesError::NoColumn { missing, found: excerpt(&names.join(", ")) });
            }
        }
        Ok(Rows { names, places, file: ValuesFile::default() })
    }

    fn add<'a>(&mut self, place: impl Fn() -> String, columns: usize, cell: impl Fn(usize) -> &'a str) {
        let skipped = &mut self.file.skipped;
        if columns != self.names.len() {
            let expected = self.names.len();
            return skipped.add("damaged row", || format!("{}: {columns} fields, expected {expected}", place()));
        }
        let [value, result, game, ply] = self.places.map(|column| column.map(&cell));
        let (value, result) = (value.unwrap_or_default(), result.unwrap_or_default());
        let mut skip = |reason: &str, text: &str| skipped.add(reason, || format!("{}: {:?}", place(), excerpt(text)));
        let Some(number) = number(value) else { return skip("value that is not a number", value) };
        let Some(points) = points(result) else { return skip("unknown result", result) };
        let Some(plies) = ply.map_or(Some(0), |ply| ply.parse().ok()) else {
            return skip("ply that is not a whole number", ply.unwrap_or_default());
        };
        // Without a column for it every position is a game of its own.
        let game = game.map_or_else(|| (self.file.samples.len() + 1).to_string(), str::to_owned);
        let tags = self.names.iter().enumerate().filter(|(column, _)| !self.places.contains(&Some(*column)));
        let tags = tags.map(|(column, name)| (name.clone(), Tag::Word(cell(column).to_owned().into()))).collect();
        // The number was looked at above.
        let _ = self.file.samples.push(Sample { game, ply: plies, value: number, result: points, tags });
    }
}

/// A number, an infinity, or a mate as chess programs write it: `#5`, `#-3`. A mate is a proven win or loss.
fn number(text: &str) -> Option<f64> {
    let mate = |text: &str| text.parse::<i64>().ok();
    match text.strip_prefix('#') {
        Some(distance) if distance.starts_with('-') => mate(distance).map(|_| f64::NEG_INFINITY),
        Some(distance) => mate(distance).map(|_| f64::INFINITY),
        None => text.parse().ok().filter(|number: &f64| !number.is_nan()),
    }
}

fn points(text: &str) -> Option<Points> {
    match text {
        "1" | "1.0" | "win" => Some(Points::Win),
        "0.5" | "1/2" | "½" | "draw" => Some(Points::Draw),
        "0" | "0.0" | "loss" => Some(Points::Loss),
        _ => None,
    }
}

fn result_text(points: Points) -> &'static str {
    match points {
        Points::Win => "1",
        Points::Draw => "0.5",
        Points::Loss => "0",
    }
}

impl Samples {
    /// Writes CSV; what is read back is the same.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_csv(&self, output: impl Write) -> Result<(), ValuesError> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(FIXED.into_iter().chain(self.tag_names()))?;
        let tags: Vec<&Words> = self.tag_names().filter_map(|name| self.tag(name)).collect();
        for index in 0..self.len() {
            let (value, ply) = (self.values()[index].to_string(), self.plies()[index].to_string());
            let fixed = [&value, result_text(self.results()[index]), self.games().get(index), &ply];
            writer.write_record(fixed.into_iter().chain(tags.iter().map(|words| words.get(index))))?;
        }
        Ok(writer.flush()?)
    }

    /// Writes Parquet; what is read back is the same.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_parquet(&self, output: impl Write + Send) -> Result<(), ValuesError> {
        use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
        let column = |name: &str, physical, logical| {
            let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
            column.with_logical_type(logical).build()
        };
        let words = |name: &str| column(name, Physical::BYTE_ARRAY, Some(LogicalType::String));
        let mut fields = vec![
            column("value", Physical::DOUBLE, None)?,
            column("result", Physical::DOUBLE, None)?,
            words("game")?,
            column("ply", Physical::INT32, None)?,
        ];
        fields.extend(self.tag_names().map(words).collect::<Result<Vec<_>, _>>()?);
        let schema =
            Type::group_type_builder("values").with_fields(fields.into_iter().map(Arc::new).collect()).build()?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let results: Vec<f64> = self.results().iter().map(|points| points.half_points() as f64 / 2.0).collect();
        let plies: Vec<i32> = self.plies().iter().map(|&ply| i32::try_from(ply).unwrap_or(i32::MAX)).collect();
        let text_columns = [self.games()].into_iter().chain(self.tag_names().filter_map(|name| self.tag(name)));
        let mut texts = text_columns.map(|words| {
            let distinct: Vec<ByteArray> = words.distinct().iter().map(|word| word.as_str().into()).collect();
            words.codes().iter().map(|&code| distinct[code as usize].clone()).collect::<Vec<_>>()
        });
        let mut number = 0;
        while let Some(mut column) = group.next_column()? {
            match number {
                0 => column.typed::<DoubleType>().write_batch(self.values(), None, None)?,
                1 => column.typed::<DoubleType>().write_batch(&results, None, None)?,
                3 => column.typed::<Int32Type>().write_batch(&plies, None, None)?,
                _ => column.typed::<ByteArrayType>().write_batch(&texts.next().unwrap_or_default(), None, None)?,
            };
            column.close()?;
            number += 1;
        }
        group.close()?;
        writer.close()?;
        Ok(())
    }
}
