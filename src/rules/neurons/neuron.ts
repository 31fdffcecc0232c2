import type { z } from 'zod'
import type * as contract from '../../contract/neurons.ts'
import type { EdgeType } from '../../contract/vocabulary.ts'

export type Edge = { type: EdgeType; target: string }

/** A Source that a page cites, as its front matter and the answers name it. */
export type SourceReference = z.output<typeof contract.SourceField>

/** Latest confirmation that a page is true: by whom, and until which day it holds. Days as `2026-11-26`. */
export type Verified = z.output<typeof contract.VerifiedField>

/** Front matter that Ganglion knows; every other key is a curator's own and is left alone. */
export type NeuronFields = {
  seqId?: string
  /** Document UUID. */
  id?: string
  title?: string
  tags: string[]
  /** Absent: the KB's `defaultAudience` holds. */
  audience?: string[]
  aliases: string[]
  edges: Edge[]
  /** Back-pointer: the candidate that produced this version. */
  candidate?: string
  connector?: string
  sourceUrl?: string
  /** What else the candidate's metadata held: a JSON object as text. */
  metadata?: string
  sources: SourceReference[]
  verified?: Verified
  /** Who answers for the page: an e-mail, or the name of a key. */
  owner?: string
  note?: string
  noteShared: boolean
}

/** A wiki link as written in a page, or a Markdown link to a file of the knowledge base. */
export type WikiLink = {
  /** The link's target as written, without type, KB, heading and alias; of a Markdown link the path, decoded. */
  target: string
  /** Absent: a wiki link. */
  form?: 'markdown'
  /** `[[contradicts:Old policy]]`. Absent: a plain link. */
  type?: EdgeType
  /** `[[kb:other-kb/Target]]`: slug of another KB. */
  kb?: string
  heading?: string
  alias?: string
  embed: boolean
  /** 1-based line in the text that was parsed. */
  line: number
}

/** Something wrong with a file, at a place a person can go to. */
export type Finding = {
  /** Stable name of the rule, e.g. `duplicate-seq-id`. */
  rule: string
  severity: 'error' | 'warning'
  /** Path in the KB, with `/`. */
  path: string
  /** 1-based. */
  line: number
  message: string
}
