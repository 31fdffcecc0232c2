import type { Readable } from 'node:stream'
import { z } from 'zod'
import { KbId } from './identifiers.ts'

export const FilePath = z.object({
  kbId: KbId,
  path: z
    .string()
    .describe('Path of the file in the repository, percent-encoded. Slashes may be left as they are.')
    .meta({ examples: ['neurons/img/flow.png'] }),
})

/** Media types of files that a browser may show, by extension: none of them can run a script. */
export const shownFileTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  pdf: 'application/pdf',
}

/** Media type of all other files: browsers save them and do not show them. */
export const savedFileType = 'application/octet-stream'

/** File for a response. `read` throws `rate_limited` or `unavailable` if too many others are being read. */
export type FileContent = {
  filename: string
  /** Size in bytes. */
  size: number
  /** Identifies the bytes. */
  etag: string
  /** Media type. */
  type: string
  read: (range?: { first: number; last: number }) => Promise<Readable>
}
