import { isUuid } from '../../rules/candidates/candidate-id.ts'

/** Prefix of the refs of candidates' heads: commits on top of main that propose them. */
export const candidateRefs = 'refs/candidates/'

/** Maximum candidates of a bundle, since a file name has at most 255 bytes. */
export const largestBundle = 6
/** Maximum number of candidates that one request may name. */
const maxAskedIds = 50

/** Returns the ref of a candidate's head; for a bundle, the ids are joined by `+`. */
export function refOfHead(name: string): string {
  return `${candidateRefs}${name}/head`
}

/** Returns the name of the head in a ref, if it is one. */
export function headOfRef(ref: string): string | undefined {
  const name = ref.slice(candidateRefs.length, -'/head'.length)
  return ref === refOfHead(name) && isHeadName(name) ? name : undefined
}

export function idsOfHead(name: string): string[] {
  return name.split('+')
}

function isHeadName(name: string): boolean {
  const ids = idsOfHead(name)
  return ids.length <= largestBundle && new Set(ids).size === ids.length && ids.every(isUuid)
}

/**
 * Parses the prefixes of a request for refs (as in `ls-refs` of protocol v2; none: all refs). Returns the heads requested by name, and
 * whether other heads may match, too.
 */
export function askedHeads(prefixes: readonly string[]): { names: string[]; others: boolean } {
  const names = new Set<string>()
  let others = prefixes.length === 0
  let ids = 0
  for (const prefix of prefixes) {
    if (candidateRefs.startsWith(prefix)) others = true
    if (!prefix.startsWith(candidateRefs)) continue
    const [name = '', ...rest] = prefix.slice(candidateRefs.length).split('/')
    if (!isHeadName(name)) others ||= rest.length === 0
    else if (!names.has(name)) {
      ids += idsOfHead(name).length
      if (ids <= maxAskedIds) names.add(name)
    }
  }
  return { names: [...names], others }
}
