import { hash, randomBytes, randomInt } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuid.test(text)
}

let last = { msecs: 0, count: 0 }

/**
 * Returns a UUIDv7 (RFC 9562) that identifies the KB within its tenant: the 30 bits after the variant are a hash of the KB's id. Ids that a
 * process makes in the same millisecond ascend: the 12 bits before the variant are a counter with a random start (§6.2, method 1), which
 * may wrap after 2,048 ids. The last 32 bits are random. `msecs`: since 1970.
 */
export function candidateIdFor(kbId: string, { msecs = Date.now() }: { msecs?: number } = {}): string {
  last = { msecs, count: msecs === last.msecs ? last.count + 1 : randomInt(0x800) }
  return idOf(kbId, msecs, last.count, randomBytes(4))
}

/** Returns a candidate id that a text determines, so that what is sent again about the same thing finds its candidate. */
export function derivedCandidateId(kbId: string, { msecs, from }: { msecs: number; from: string }): string {
  const hashed = hash('sha256', from, 'buffer')
  return idOf(kbId, msecs, hashed.readUInt16BE(4), hashed)
}

function idOf(kbId: string, msecs: number, count: number, random: Buffer): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(msecs, 0, 6)
  bytes.writeUInt16BE(0x7000 | (count & 0xfff), 6)
  kbHash(kbId).copy(bytes, 8)
  random.copy(bytes, 12)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Returns the time in a UUIDv7, in milliseconds since 1970. */
export function candidateTime(id: string): number {
  return Number.parseInt(id.slice(0, 13).replace('-', ''), 16)
}

/** Returns the document id of the page that a candidate makes. Derived, so that an approval makes the same tree as its preview. */
export function pageIdOf(candidateId: string): string {
  return uuidv7({ msecs: candidateTime(candidateId), random: hash('sha256', `page of ${candidateId}`, 'buffer') })
}

/** True if a candidate id may belong to the KB. An id of another KB passes once in 2³⁰, so look the record up. */
export function candidateBelongsTo(candidateId: string, kbId: string): boolean {
  return (
    isUuid(candidateId) && candidateId.replaceAll('-', '').slice(16, 24).toLowerCase() === kbHash(kbId).toString('hex')
  )
}

/** Returns the last six characters of a UUIDv7. They are random, and enough to tell files of one name apart. */
export function idTail(id: string): string {
  return id.slice(-6).toLowerCase()
}

/** Returns bytes 8 to 11 of a candidate's id: variant `10`, then 30 bits of the hash. */
function kbHash(kbId: string): Buffer {
  const hashed = hash('sha256', kbId.toLowerCase(), 'buffer').subarray(0, 4)
  hashed.writeUInt8(0x80 | (hashed.readUInt8(0) & 0x3f), 0)
  return hashed
}
