//! Endgame tables: any bytes are refused or read as they are, and take no more memory than they may.
#![no_main]

use anqi_endgame::TableFile;
use anqi_store::Container;
use anqi_store::faults::SimulatedDisk;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("P-p.end.table");
    disk.put(&path, bytes);
    if let Ok(container) = Container::open(&path) {
        let blocks = (0..container.block_count()).map_while(|block| container.block(block).ok());
        assert!(blocks.map(|block| block.len() as u64).sum::<u64>() <= container.len());
    }
    let _ = TableFile::open(&path).and_then(|file| file.load());
});
