import type { CheckedFile } from './checked-file.ts'
import { linkedHeadingKey } from './headings.ts'
import { fileKeys, linkKey, type NamedNeuron, namesOf, type Resolution, resolveTarget } from './link-target.ts'
import type { Finding } from './neuron.ts'
import { oneLine } from './text.ts'

const maxLinks = 2000

/** Wiki links and edges that lead nowhere, to several Neurons, or to a heading that is not there, and pages with too many links. */
export function checkLinks(
  files: readonly CheckedFile[],
  previousNames: ReadonlyMap<string, readonly string[]> = new Map(),
): Finding[] {
  const resolve = resolverIn(files, previousNames)
  const headings = new Map(files.map(({ path, neuron }) => [neuron?.fields.seqId ?? path, neuron?.headings]))
  const lacks = (seqId: string, heading: string) => {
    const key = linkedHeadingKey(heading)
    return key !== '' && headings.get(seqId)?.has(key) === false
  }
  const attachments = new Set(files.flatMap(({ path, neuron }) => (neuron === undefined ? fileKeys(path) : [])))
  return files.flatMap(({ path, neuron, links = [] }) => {
    const findings: Finding[] = []
    const report = (rule: string, line: number, message: string) =>
      findings.push({ rule, severity: 'warning', path, line, message })

    if (links.length > maxLinks) {
      report('too-many-links', 1, `The page has ${links.length} links; only the first ${maxLinks} count.`)
    }
    for (const link of links.slice(0, maxLinks)) {
      // An empty target is the page itself, and another KB is not ours to look into.
      if (link.kb !== undefined || link.target.trim() === '') continue
      const line = (neuron?.contentLine ?? 1) + link.line - 1
      const found = resolve(link.target)
      if ('missing' in found && attachments.has(linkKey(link.target))) continue
      if ('missing' in found) report('broken-link', line, `No Neuron answers to [[${oneLine(link.target, 200)}]].`)
      if ('seqId' in found && link.heading !== undefined && lacks(found.seqId, link.heading)) {
        const shown = `${oneLine(link.target, 200)}#${oneLine(link.heading, 200)}`
        report('broken-heading', line, `The page of [[${shown}]] has no such heading.`)
      }
      if ('ambiguous' in found) {
        const holders = found.ambiguous.slice(0, 10).map((name) => oneLine(name, 200))
        report('ambiguous-link', line, `[[${oneLine(link.target, 200)}]] may mean ${holders.join(', ')}.`)
      }
    }
    for (const { type, target } of neuron?.fields.edges ?? []) {
      if (!('seqId' in resolve(target))) {
        report('broken-edge', 1, `The edge ${type} leads to no single Neuron: ${oneLine(target, 200)}.`)
      }
    }
    return findings
  })
}

function resolverIn(
  files: readonly CheckedFile[],
  previousNames: ReadonlyMap<string, readonly string[]>,
): (target: string) => Resolution {
  const names = new Map<string, NamedNeuron[]>()
  for (const { path, neuron } of files) {
    if (neuron === undefined) continue
    // A Neuron that was given no seqId yet goes by its path.
    const seqId = neuron.fields.seqId ?? path
    const { title } = neuron.fields
    const aliases = [...neuron.fields.aliases, ...(previousNames.get(seqId) ?? [])]
    for (const { key, exact, kind } of namesOf({ seqId, path, title, aliases })) {
      const named = names.get(key)
      if (named === undefined) names.set(key, [{ seqId, kind, exact }])
      else named.push({ seqId, kind, exact })
    }
  }
  // Kept by target, since thousands of links to a name that thousands of Neurons share would each sort them.
  const resolved = new Map<string, Resolution>()
  return (target) => {
    const resolution = resolved.get(target) ?? resolveTarget(target, (key) => names.get(key) ?? [])
    resolved.set(target, resolution)
    return resolution
  }
}
