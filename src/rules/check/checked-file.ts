import type { LinkForm } from '../links/written-link.ts'
import type { Finding, NeuronFields, WikiLink } from '../neurons/neuron.ts'
import { parseSeqId } from '../neurons/seq-id.ts'
import { isNeuronPath } from '../paths/neuron-path.ts'
import { oneLine } from '../text/lines.ts'

/** Link to a place on its own page: `[[#Heading]]`, `[text](#heading)`. */
export type OwnPlaceLink = { heading: string; form: LinkForm; line: number }

export type CheckedFile = {
  /** Path from the root of the repository, separated by `/`. */
  path: string
  oid?: string
  size: number
  /** Git file mode as text, e.g. `100644`. */
  mode?: string
  /** Parsed page of a Neuron; absent for other files, and if it cannot be parsed. */
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

const mb = 1024 * 1024
export const maxPageBytes = mb
export const maxFileBytes = 2 * mb

const badModes: Readonly<Record<string, string>> = {
  '120000': 'Symbolic links are not allowed.',
  '160000': 'Submodules are not allowed.',
  '100755': 'Executable files are not allowed.',
}

export function checkFile(file: CheckedFile, prefix: string): Finding[] {
  const { path, size, mode = '100644', neuron } = file
  const findings: Finding[] = []
  const report = (rule: string, severity: Finding['severity'], message: string) =>
    findings.push({ rule, severity, path, line: 1, message })

  if (mode !== '100644') report('file-mode', 'error', badModes[mode] ?? `The mode ${oneLine(mode, 20)} is not allowed.`)
  const maxBytes = neuron !== undefined || /\.md$/i.test(path) ? maxPageBytes : maxFileBytes
  const hint = maxBytes === maxPageBytes ? ' Pictures in its text count: make files of them.' : ''
  if (size > maxBytes) report('file-size', 'error', `The file is larger than ${maxBytes / mb} MB.${hint}`)
  findings.push(...(file.findings ?? []).map((finding) => ({ ...finding, path })))
  const pagePath = path.replace(/\.(?:md|markdown)$/i, '.md')
  if (pagePath !== path && isNeuronPath(pagePath)) {
    report('page-extension', 'error', `The file of a page ends in .md: name it ${oneLine(pagePath, 200)}.`)
  }
  if (neuron === undefined) return findings

  findings.push(...neuron.findings.map((finding) => ({ ...finding, path })))
  const { seqId } = neuron.fields
  if (!neuron.title?.trim())
    report('missing-title', 'warning', 'The Neuron has no title: it is called by its file name.')
  if (seqId !== undefined && parseSeqId(seqId)?.prefix !== prefix) {
    report('seq-id-prefix', 'error', `The seqId ${oneLine(seqId, 100)} is not of the form ${prefix}_00000042.`)
  }
  return findings
}
