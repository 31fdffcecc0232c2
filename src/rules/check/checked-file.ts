import type { LinkForm } from '../links/written-link.ts'
import type { Finding, NeuronFields, WikiLink } from '../neurons/neuron.ts'

/** Link to a place on its own page: `[[#Heading]]`, `[text](#heading)`. */
export type OwnPlaceLink = { heading: string; form: LinkForm; line: number }

export type CheckedFile = {
  /** Path from the root of the repository, with `/`. */
  path: string
  oid?: string
  size: number
  /** Git file mode as text, e.g. `100644`. */
  mode?: string
  /** Set for Neurons that could be parsed. */
  neuron?: CheckedNeuron
  /** Findings about the content of a file that is not a page. */
  findings?: readonly Omit<Finding, 'path'>[]
  /** Links of the content. Line 1 is the first line of the content. */
  links?: readonly WikiLink[]
}

export type CheckedNeuron = {
  fields: NeuronFields
  /** Title from the front matter or the opening heading. */
  title: string | undefined
  /** Links in the curator's own keys of front matter. */
  propertyLinks?: readonly Omit<WikiLink, 'line'>[]
  /** Findings of the front matter parser. Line 1 is the first line of the file. */
  findings: readonly Omit<Finding, 'path'>[]
  content: string
  /** Keys of headings, blocks and ids that links can name. */
  places?: ReadonlySet<string>
  /** Links to places on the page itself. Line 1 is the first line of the content. */
  ownPlaces?: readonly OwnPlaceLink[]
  contentLine: number
  /** First line of the file (1-based) with the tag `internal`, or one below it, in the text. */
  internalTagLine?: number
}
