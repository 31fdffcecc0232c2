import type { Finding, NeuronFields, WikiLink } from '../neurons/neuron.ts'

/** A file of a KB as the check sees it. */
export type CheckedFile = {
  /** With `/`, from the root of the repository. */
  path: string
  oid?: string
  /** Bytes. */
  size: number
  /** Git's, as text: `100644`. */
  mode?: string
  /** Only for Neurons that were parsed. */
  neuron?: CheckedNeuron
  /** What is wrong with what another file holds. */
  findings?: readonly Omit<Finding, 'path'>[]
  /** Lines count from the content's first. */
  links?: readonly WikiLink[]
}

export type CheckedNeuron = {
  fields: NeuronFields
  /** What the page calls itself, in its front matter or by its opening heading. */
  title: string | undefined
  /** The links in the curator's own front matter. */
  propertyLinks?: readonly Omit<WikiLink, 'line'>[]
  /** What the front matter's parser found; lines count from the file's first. */
  findings: readonly Omit<Finding, 'path'>[]
  content: string
  /** Keys of its headings. */
  headings?: ReadonlySet<string>
  /** 1-based line of the file on which the content begins. */
  contentLine: number
  /** 1-based line of the file on which its text has the tag `internal` first, or one below it. */
  internalTagLine?: number
}
