import type { Finding } from '../neurons/neuron.ts'
import type { CheckedFile } from './checked-file.ts'

/** Pages whose text has `#internal`, where tags in a text do not count: their authors may take them for hidden. */
export function checkTags(files: readonly CheckedFile[]): Finding[] {
  return files.flatMap(({ path, neuron }): Finding[] => {
    if (neuron?.internalTagLine === undefined) return []
    const message = 'The text has #internal, which hides nothing here: kb.yaml does not say inlineTags: true.'
    return [{ rule: 'inline-internal', severity: 'warning', path, line: neuron.internalTagLine, message }]
  })
}
