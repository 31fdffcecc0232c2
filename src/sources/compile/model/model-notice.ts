import type { ModelGap } from './model-draft.ts'

type Notices = { whole: string; partly: string; reasons: Readonly<Record<ModelGap, string>> }

const english: Notices = {
  whole: 'Compiled without the language model',
  partly: 'Compiled in part without the language model',
  reasons: {
    unreachable: 'it could not be reached.',
    slow: 'it did not answer in time.',
    paused: 'it failed a moment ago and is not asked for now.',
    error: 'it answered with an error.',
    refused: 'it refused to answer.',
    invalid: 'its answer did not have the form that was asked for.',
    unsupported: 'the document does not say what it wrote.',
    'too-long': 'the document is too long for it.',
  },
}

const german: Notices = {
  whole: 'Ohne das Sprachmodell erstellt',
  partly: 'Zum Teil ohne das Sprachmodell erstellt',
  reasons: {
    unreachable: 'Es war nicht erreichbar.',
    slow: 'Es hat nicht rechtzeitig geantwortet.',
    paused: 'Es ist gerade ausgefallen und wird vorerst nicht gefragt.',
    error: 'Es hat mit einem Fehler geantwortet.',
    refused: 'Es hat die Antwort verweigert.',
    invalid: 'Seine Antwort hatte nicht die verlangte Form.',
    unsupported: 'Das Dokument sagt nicht, was es geschrieben hat.',
    'too-long': 'Das Dokument ist zu lang für das Modell.',
  },
}

/** What a summary says of it, on one line, in the language (BCP 47) of the knowledge base; English where there are no words for it. */
export function modelNotice(gap: ModelGap, extent: 'whole' | 'partly', language: string): string {
  return sentence(/^de(?:-|$)/i.test(language) ? german : english, gap, extent)
}

/** The same as a warning on the Source: in English, as all that the API says of itself. */
export function modelWarning(gap: ModelGap, extent: 'whole' | 'partly'): string {
  return sentence(english, gap, extent)
}

function sentence(words: Notices, gap: ModelGap, extent: 'whole' | 'partly'): string {
  return `${words[extent]}: ${words.reasons[gap]}`
}
