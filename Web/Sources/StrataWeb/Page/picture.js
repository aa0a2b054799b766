// The server's picture has no place for live figures: this makes each row of
// boxes higher, and moves everything below it down.

import { mapHeights } from "./path.js"

/** The place for a box's CPU, memory and queue. */
const liveHeight = 22
/** What each box is wider at both sides: a mark stands before the name. */
const wider = 6

/**
 * Returns the picture with larger boxes, and the first level at the top: the
 * page has a header of its own.
 */
export function withLiveRows(picture) {
    const bands = picture.bands ?? []
    const boxes = picture.boxes ?? []
    const top = bands.length ? Math.min(...bands.map((band) => band.y)) : 0
    const bottoms = [...new Set(boxes.map((box) => round(box.y + box.height)))].sort((a, b) => a - b)
    // A height at a row's bottom belongs to its lower edge, so it moves.
    const move = (y) => {
        let rows = 0
        while (rows < bottoms.length && bottoms[rows] <= y + 0.25) rows += 1
        return y - top + rows * liveHeight
    }
    const span = (thing) => {
        const y = move(thing.y)
        return { ...thing, y, height: move(thing.y + thing.height) - y }
    }
    return {
        ...picture,
        height: Math.max(0, ...bands.map((band) => move(band.y + band.height))) || move(picture.height ?? 0),
        bands: bands.map(span),
        frames: (picture.frames ?? []).map(span),
        boxes: boxes.map((box) => ({ ...span(box), x: box.x - wider, width: box.width + 2 * wider })),
        lines: (picture.lines ?? []).map((line) => ({
            ...line, path: mapHeights(line.path, move), arrow: mapHeights(line.arrow ?? "", move), countY: move(line.countY),
        })),
        remarks: picture.remarks ?? [],
    }
}

const round = (value) => Math.round(value * 4) / 4
