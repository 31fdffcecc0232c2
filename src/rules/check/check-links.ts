import {
  type FileLookup,
  fileLookup,
  fileNameKey,
  isSpelledOtherwise,
  type LinkMeaning,
  meaningOf,
  resolveFile,
} from '../links/file-target.ts'
import { lacksPlace } from '../links/headings.ts'
import { type LinkAddress, type NamedNeuron, namedNeurons } from '../links/link-target.ts'
import type { Finding } from '../neurons/neuron.ts'
import { parseSeqId } from '../neurons/seq-id.ts'
import { oneLine } from '../text/lines.ts'
import type { ClaimOf } from './check-names.ts'
import type { CheckedFile } from './checked-file.ts'

/** Finds links and edges that lead to nothing, to several Neurons, or to a missing place of a page. */
export function checkLinks(
  checked: readonly CheckedFile[],
  previousNames: ReadonlyMap<string, readonly string[]> = new Map(),
  {
    previousPaths = new Map(),
    claimOf = () => undefined,
  }: { previousPaths?: ReadonlyMap<string, string>; claimOf?: ClaimOf } = {},
): Finding[] {
  const files = fileLookup(checked.flatMap((file) => (file.neuron === undefined ? [file.path] : [])))
  const resolve = resolverIn(checked, { previousNames, claimOf, files })
  /** Returns a hint for a target such as `[[C# basics]]`, read as heading `basics` of `C`, if a page has the whole text as its name. */
  const meantWhole = (address: LinkAddress, heading: string | undefined) => {
    if (heading === undefined || address.form !== 'wiki') return ''
    for (const name of [`${address.target}# ${heading}`, `${address.target}#${heading}`]) {
      const whole = resolve({ ...address, target: name })
      if (!('seqId' in whole)) continue
      const seqId = parseSeqId(whole.seqId) === undefined ? '' : `: [[${whole.seqId}]]`
      return ` A page is called "${oneLine(name, 200)}": link to it by its seqId${seqId}.`
    }
    return ''
  }
  const paths = new Map(checked.map(({ path, neuron }) => [neuron?.fields.seqId ?? path, path]))
  const places = new Map(checked.map(({ path, neuron }) => [neuron?.fields.seqId ?? path, neuron?.places]))
  return checked.flatMap(({ path, neuron, links = [] }) => {
    const findings: Finding[] = []
    const previous = previousPaths.get(neuron?.fields.seqId ?? '')
    // Links to files are rewritten when the push that moves their page is accepted.
    const isFile = (target: string) => previous !== undefined && resolveFile(target, previous, files) !== undefined
    const report = (rule: string, line: number, message: string) =>
      findings.push({ rule, severity: 'warning', path, line, message })

    const properties = (neuron?.propertyLinks ?? []).map((link) => ({ ...link, line: undefined }))
    for (const { kb, line: written, target, heading, form = 'wiki' } of [...properties, ...links]) {
      // An empty target means the page itself. Links into other KBs are not checked.
      if (kb !== undefined || target.trim() === '') continue
      const line = written === undefined ? 1 : (neuron?.contentLine ?? 1) + written - 1
      const address: LinkAddress = { target, form, from: path }
      const found = resolve(address)
      const shown = form === 'wiki' ? `[[${oneLine(target, 200)}]]` : `the link to ${oneLine(target, 200)}`
      if ('missing' in found && !isFile(target)) {
        const sought = fileNameKey(target) === undefined ? 'Neuron' : 'Neuron or file'
        report('broken-link', line, `No ${sought} answers to ${shown}.${meantWhole(address, heading)}`)
      }
      const meant = 'file' in found ? found.file : 'seqId' in found ? paths.get(found.seqId) : undefined
      if (form === 'markdown' && meant !== undefined && isSpelledOtherwise(target, meant)) {
        const message = `The link to ${oneLine(target, 200)} means ${oneLine(meant, 200)}, which is spelled otherwise: other programs may not find it.`
        report('link-case', line, message)
      }
      const known = 'seqId' in found ? places.get(found.seqId) : undefined
      if (heading !== undefined && known !== undefined && lacksPlace(known, { heading, form })) {
        const place = `${oneLine(target, 200)}#${oneLine(heading, 200)}`
        const holder = form === 'wiki' ? `[[${place}]]` : `the link to ${place}`
        report('broken-heading', line, `The page of ${holder} has no such ${placeKind(heading)}.`)
      }
      if ('ambiguous' in found) {
        const holders = found.ambiguous.slice(0, 10).map((name) => oneLine(name, 200))
        const subject = form === 'wiki' ? shown : `The link to ${oneLine(target, 200)}`
        report('ambiguous-link', line, `${subject} may mean ${holders.join(', ')}.`)
      }
    }
    for (const { heading, form, line } of neuron?.ownPlaces ?? []) {
      if (neuron?.places === undefined || !lacksPlace(neuron.places, { heading, form })) continue
      const message = `This page has no ${placeKind(heading)} #${oneLine(heading, 200)}.`
      report('broken-heading', neuron.contentLine + line - 1, message)
    }
    for (const { type, target } of neuron?.fields.edges ?? []) {
      if (!('seqId' in resolve({ target, form: 'edge', from: path }))) {
        report('broken-edge', 1, `The edge ${type} leads to no single Neuron: ${oneLine(target, 200)}.`)
      }
    }
    return findings
  })
}

function placeKind(heading: string): string {
  return /(?:^|#)\s*\^/.test(heading) ? 'block' : 'heading'
}

function resolverIn(
  checked: readonly CheckedFile[],
  {
    previousNames,
    claimOf,
    files,
  }: { previousNames: ReadonlyMap<string, readonly string[]>; claimOf: ClaimOf; files: FileLookup },
): (link: LinkAddress) => LinkMeaning {
  const names = new Map<string, NamedNeuron[]>()
  for (const { path, neuron } of checked) {
    if (neuron === undefined) continue
    // A Neuron without a seqId yet is identified by its path.
    const seqId = neuron.fields.seqId ?? path
    const { title } = neuron
    const aliases = [...neuron.fields.aliases, ...(previousNames.get(seqId) ?? [])]
    for (const named of namedNeurons({ seqId, path, title, aliases })) {
      const name = { ...named, claim: claimOf(seqId, named) }
      const same = names.get(name.key)
      if (same === undefined) names.set(name.key, [name])
      else same.push(name)
    }
  }
  // Cached by target: otherwise thousands of links to a name that thousands of Neurons share would each sort them.
  const resolved = new Map<string, LinkMeaning>()
  return (link) => {
    const { target, form, from } = link
    const key = JSON.stringify([target, form, from.slice(0, from.lastIndexOf('/'))])
    const meaning = resolved.get(key) ?? meaningOf(link, { names: (name) => names.get(name) ?? [], files })
    resolved.set(key, meaning)
    return meaning
  }
}
