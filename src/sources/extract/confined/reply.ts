import { z } from 'zod'
import { maxMarkdownBytes } from '../extract-limits.ts'

const anchor = z.strictObject({
  line: z.int().min(1),
  page: z.int().min(1).exactOptional(),
  slide: z.int().min(1).exactOptional(),
  sheet: z.string().max(1000).exactOptional(),
  time: z.number().min(0).exactOptional(),
})

/** Text without control characters, except line ends and tabs, and without lone surrogates. */
const cleanText = z.string().refine((text) => text.isWellFormed() && !/[^\P{Cc}\n\t]/u.test(text), 'is not clean text')

const extracted = z.strictObject({
  title: cleanText.max(1000).optional(),
  markdown: cleanText.refine((text) => Buffer.byteLength(text) <= maxMarkdownBytes, 'is too large'),
  searchOnlyFrom: z.int().min(1).exactOptional(),
  anchors: z.array(anchor).max(200_000),
  warnings: z.array(cleanText.max(1000)).max(100),
  doubts: z.array(cleanText.max(1000)).max(100).exactOptional(),
  tags: z.array(cleanText.max(1000)).max(10_000).exactOptional(),
  audience: z.array(cleanText.max(1000)).max(10_000).exactOptional(),
  recognised: z
    .strictObject({
      words: z.int().min(1),
      confidence: z.number().min(0).max(1),
      languages: z.array(cleanText.max(20)).max(5).exactOptional(),
    })
    .exactOptional(),
})

const problem = z.enum([
  ...(['encrypted', 'corrupt', 'wrong-type', 'too-large', 'too-slow', 'starved'] as const),
  ...(['unsupported', 'empty', 'not-configured', 'crashed'] as const),
])

/** Schema for the reply of the extracting process, which is trusted no more than the document that it read. */
export const extractReply = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), extracted }),
  z.strictObject({ ok: z.literal(false), problem, message: cleanText.max(1000) }),
])
export type ExtractReply = z.infer<typeof extractReply>
