import { PushRefused } from '../kb/writing/pushed-neurons.ts'
import { oneLine } from '../rules/text/lines.ts'

const maxTopic = 100

export type PushOptions = {
  /** Topic that separates several proposals for one Neuron. */
  topic: string
  /** Merges a push to `refs/for/main` into main at once. */
  submit: boolean
}

/** Parses the options of `git push -o`. @throws {PushRefused} */
export function parsePushOptions(options: readonly string[]): PushOptions {
  let topic = ''
  for (const option of options) {
    if (option === 'submit') continue
    const [, name] = /^topic=(.*)$/s.exec(option) ?? []
    if (name === undefined) throw new PushRefused('the only push options are submit and topic=NAME')
    if (name.length > maxTopic || oneLine(name, maxTopic) !== name) {
      throw new PushRefused(`a topic is one line of at most ${maxTopic} characters`)
    }
    topic = name
  }
  const submit = options.includes('submit')
  if (submit && topic !== '') throw new PushRefused('a topic is for what waits: push with submit or with a topic')
  return { topic, submit }
}
