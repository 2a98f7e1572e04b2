// The MTN adapter's requests, compared with the vectors of its wire.
import { useMtnWire } from './wire-harness.ts';
import { sendsItsVectors } from '../vectors.ts';

const wire = useMtnWire();

sendsItsVectors('mtn-momo', {
  get stub() {
    return wire.stub;
  },
  get operator() {
    return wire.operator;
  },
  openFor: () => Promise.resolve(wire.operator),
});
