import type { LinkForm } from '../links/written-link.ts'
import type { Finding, NeuronFields, WikiLink } from '../neurons/neuron.ts'

/** A link to a place of its own page: `[[#Heading]]`, `[text](#heading)`. */
export type OwnPlaceLink = { heading: string; form: LinkForm; line: number }

export type CheckedFile = {
  /** With `/`, from the root of the repository. */
  path: string
  oid?: string
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
  /** Keys of its headings, blocks and ids, which links name. */
  places?: ReadonlySet<string>
  /** Links to places of the page itself; lines count from the content's first. */
  ownPlaces?: readonly OwnPlaceLink[]
  contentLine: number
  /** 1-based line of the file on which its text has the tag `internal` first, or one below it. */
  internalTagLine?: number
}
