import { createHash, randomBytes, randomInt } from 'node:crypto'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuid.test(text)
}

let last = { msecs: 0, count: 0 }

/**
 * A UUIDv7 (RFC 9562) that says which KB of a tenant to look in: the 30 bits after the variant are a hash of the KB's id.
 * Those that a process makes in a millisecond are in their order: the 12 bits before the variant count, from a random half on (§6.2,
 * method 1); only after 2,048 they may begin again. 32 random bits are at the end. `msecs`: since 1970.
 */
export function candidateIdFor(kbId: string, { msecs = Date.now() }: { msecs?: number } = {}): string {
  last = { msecs, count: msecs === last.msecs ? last.count + 1 : randomInt(0x800) }
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(msecs, 0, 6)
  bytes.writeUInt16BE(0x7000 | (last.count & 0xfff), 6)
  kbHash(kbId).copy(bytes, 8)
  randomBytes(4).copy(bytes, 12)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Milliseconds since 1970 of a UUIDv7. */
export function candidateTime(id: string): number {
  return Number.parseInt(id.slice(0, 13).replace('-', ''), 16)
}

/** Whether a candidate's id may be one of the KB's: another KB passes by chance once in a billion, so look the record up. */
export function candidateBelongsTo(candidateId: string, kbId: string): boolean {
  return (
    isUuid(candidateId) && candidateId.replaceAll('-', '').slice(16, 24).toLowerCase() === kbHash(kbId).toString('hex')
  )
}

/** The last six characters of a UUIDv7, which are random: enough to tell files of one name apart. */
export function idTail(id: string): string {
  return id.slice(-6).toLowerCase()
}

/** Bytes 8 to 11 of a candidate's id: variant `10`, then 30 bits of the hash. */
function kbHash(kbId: string): Buffer {
  const hash = createHash('sha256').update(kbId.toLowerCase()).digest().subarray(0, 4)
  hash.writeUInt8(0x80 | (hash.readUInt8(0) & 0x3f), 0)
  return hash
}
