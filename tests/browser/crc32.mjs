/** The checksum of zip archives. It is built into Node since 20.15; Debian 12 has Node 18. */
export function crc32(data) {
  let crc = ~0;
  for (const byte of Buffer.from(data)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
