import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { peekLsRefs } from '../../../src/git/serve/ls-refs.ts'
import {
  decodePacket,
  encodePacket,
  flushPacket,
  type Packet,
  PktLineError,
  packetText,
  readPackets,
} from '../../../src/git/serve/pkt-line.ts'
import { fc } from '../../support/properties.ts'

/** Bytes in pieces of a given size, as a socket may bring them. */
function inPieces(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return Readable.from(pieces)
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('packets are what git defines', () => {
  expect(encodePacket('a\n').toString()).toBe('0006a\n')
  expect(encodePacket('').toString()).toBe('0004')
  expect(encodePacket('é').toString()).toBe('0006é')
  expect(flushPacket.toString()).toBe('0000')
  expect(encodePacket('x'.repeat(65_516)).subarray(0, 4).toString()).toBe('fff0')
  expect(() => encodePacket('x'.repeat(65_517))).toThrow(PktLineError)
})

test('what was written is read, however it arrives', async () => {
  const item = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(null))
  await fc.assert(
    fc.asyncProperty(fc.array(item), fc.integer({ min: 1, max: 9 }), async (items, size) => {
      const bytes = Buffer.concat(items.map((item) => (item === null ? flushPacket : encodePacket(item))))
      const packets: Packet[] = await collect(readPackets(inPieces(bytes, size)))
      expect(packets.map((packet) => (packet.kind === 'line' ? packet.payload.toString() : null))).toEqual(items)
    }),
  )
})

test('marks are told apart', async () => {
  const packets = await collect(readPackets(inPieces(Buffer.from('000000010002'), 3)))
  expect(packets.map(({ kind }) => kind)).toEqual(['flush', 'delimiter', 'response-end'])
})

test.each(['0003', 'fff1', 'zzzz', '-001', '0x10', '0005', '00'])('%s is no packet', async (bytes) => {
  await expect(collect(readPackets(inPieces(Buffer.from(bytes), 2)))).rejects.toThrow(PktLineError)
})

test('a packet that has not come whole is waited for', () => {
  expect(decodePacket(Buffer.from('0006a'))).toBeUndefined()
  expect(decodePacket(Buffer.from('x0006a\n'), 1)?.end).toBe(7)
  expect(packetText(Buffer.from('a\n\n'))).toBe('a\n')
})

describe('a request for refs', () => {
  const request = (...prefixes: string[]) =>
    Buffer.concat([
      encodePacket('command=ls-refs\n'),
      encodePacket('agent=git/2'),
      Buffer.from('0001'),
      encodePacket('peel\n'),
      ...prefixes.map((prefix) => encodePacket(`ref-prefix ${prefix}\n`)),
      flushPacket,
    ])
  const peek = async (bytes: Buffer, size = 7) => {
    const { lsRefs, body } = await peekLsRefs(inPieces(bytes, size))
    expect(Buffer.concat(await collect(body)).equals(bytes)).toBe(true)
    return lsRefs?.refPrefixes
  }

  test('names its prefixes, however it arrives, and is handed on whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (size) => {
        expect(await peek(request('refs/heads/', 'refs/candidates/a b'), size)).toEqual([
          'refs/heads/',
          'refs/candidates/a b',
        ])
      }),
    )
    expect(await peek(request())).toEqual([])
  })

  test('is not looked at beyond 64 KB', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => `refs/heads/${n}${'x'.repeat(20)}`)
    expect(await peek(request(...many), 16_384)).toEqual([])
  })

  test('is not what asks for anything else, or for nothing', async () => {
    const others = [
      Buffer.concat([encodePacket('command=fetch'), request('a')]),
      Buffer.concat([flushPacket, request('a')]),
      request('a').subarray(0, 30),
      Buffer.from('hello'),
      Buffer.alloc(0),
    ]
    for (const bytes of others) expect(await peek(bytes)).toBeUndefined()
  })
})
