import { createHash, randomBytes } from 'node:crypto'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuid.test(text)
}

/**
 * A UUIDv7 (RFC 9562) that says which KB of a tenant to look in: the 30 bits after the variant are a hash of the KB's id.
 * `msecs` is the time in milliseconds since 1970, `random` six bytes: 12 bits of them before the variant, 32 at the end.
 */
export function candidateIdFor(
  kbId: string,
  { msecs = Date.now(), random = randomBytes(6) }: { msecs?: number; random?: Uint8Array } = {},
): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(msecs, 0, 6)
  bytes.set(random.subarray(0, 2), 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  kbHash(kbId).copy(bytes, 8)
  bytes.set(random.subarray(2, 6), 12)
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
