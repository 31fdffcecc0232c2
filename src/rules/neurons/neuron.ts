import type { z } from 'zod'
import type * as contract from '../../contract/neurons.ts'
import type { EdgeType } from '../../contract/vocabulary.ts'

export type Edge = { type: EdgeType; target: string }

/** Reference of a page to a Source, as in its front matter and in answers. */
export type SourceReference = z.output<typeof contract.SourceField>

/** Latest verification of a page: by whom, and until which day it is valid. Days as `2026-11-26`. */
export type Verified = z.output<typeof contract.VerifiedField>

/** Front matter keys that Ganglion interprets. All other keys belong to the curator and stay as they are. */
export type NeuronFields = {
  seqId?: string
  /** UUID of the document. */
  id?: string
  title?: string
  tags: string[]
  /** Names of the audience. Absent: the KB's `defaultAudience` applies. */
  audience?: string[]
  aliases: string[]
  edges: Edge[]
  /** Id of the candidate that produced this version. */
  candidate?: string
  connector?: string
  sourceUrl?: string
  /** Remaining keys of the candidate's metadata: a JSON object as text. */
  metadata?: string
  sources: SourceReference[]
  verified?: Verified
  /** Person responsible for the page: an e-mail, or the name of a key. */
  owner?: string
  note?: string
  noteShared: boolean
}

/** Wiki link as written in a page, or Markdown link to a file of the knowledge base. */
export type WikiLink = {
  /** Target as written, without type, KB, heading and alias. For a Markdown link: the decoded path. */
  target: string
  /** Syntax of the link. Absent: a wiki link. */
  form?: 'markdown'
  /** Edge type, as in `[[contradicts:Old policy]]`. Absent: a plain link. */
  type?: EdgeType
  /** Slug of another KB, as in `[[kb:other-kb/Target]]`. */
  kb?: string
  heading?: string
  alias?: string
  embed: boolean
  /** Line of the parsed text, from 1. */
  line: number
}

/** Problem of a file, with the place where a person finds it. */
export type Finding = {
  /** Stable name of the rule, e.g. `duplicate-seq-id`. */
  rule: string
  severity: 'error' | 'warning'
  /** Path in the KB, with `/`. */
  path: string
  /** Line in the file, from 1. */
  line: number
  message: string
}
