//! Caches of keys and values, contiguous or in pages, and attention over them.

use crate::library::kaio;
use crate::operation::{apart, dl, no_gradient, pointer, with_inputs, Held};
#[cfg(feature = "cuda")]
use crate::storage::written_gpu;
use crate::storage::{written_cpu, Input, Output, Place};
use crate::view::View;
use crate::Causal;
use candle_core::{bail, CpuStorage, InplaceOp3, Layout, Result, Tensor};
use kaio_sys::{
    kaio_append_kv_options, kaio_append_rotary, kaio_attention_decode_options, kaio_kv_cache, DLTensor,
};

/// A cache of keys and values in one tensor (2, pages, rows, heads, size): `kv.get(0)` has the keys, `kv.get(1)` the
/// values. Without a table, the pages are the batches.
#[derive(Clone, Debug)]
pub struct KvCache {
    /// The memory: f32, f16, bf16 or F8E4M3. Any strides but the last, which is 1.
    pub kv: Tensor,
    /// (sequences, pages of the longest), I32 or U32: key j of sequence b is row j % rows of page `table[b][j / rows]`.
    /// The pages of a sequence's keys must be pages of `kv`: kernels do not check them.
    pub table: Option<Tensor>,
    /// (sequences), I32 or U32: the keys of each sequence. None: all rows.
    pub lengths: Option<Tensor>,
    /// Scales of keys of 8 bits, f32: (1), (heads), (sequences, heads) or (pages, rows, heads). None: 1.
    pub k_scale: Option<Tensor>,
    /// Likewise of values.
    pub v_scale: Option<Tensor>,
}

/// Rotation of new keys by their positions, as they are appended.
#[derive(Clone, Debug)]
pub struct CacheRotary {
    /// (positions, pairs).
    pub cos: Tensor,
    /// As cos.
    pub sin: Tensor,
    /// Pairs are (0, 1), (2, 3), ..., as in GPT-J.
    pub interleaved: bool,
}

/// Options of [`KvCache::attention`].
#[derive(Clone, Debug, Default)]
pub struct DecodeOptions {
    /// The factor of q·k. None: 1 / sqrt(head size).
    pub scale: Option<f32>,
    /// Above 0: a score x becomes softcap · tanh(x / softcap).
    pub softcap: f32,
    /// `No` or `BottomRight`: with several queries, each is its own key.
    pub causal: Causal,
    /// Keys before and after a query's own one that it attends to. None: all.
    pub window: (Option<usize>, Option<usize>),
    /// The most keys of a sequence, by which work is divided. 0: the room of the cache.
    pub max_length: usize,
    /// The bits of a sequence do not depend on the other sequences of the call.
    pub batch_invariant: bool,
    /// (heads): the score of an extra key without a value.
    pub sinks: Option<Tensor>,
}

impl KvCache {
    /// Writes new keys k (B, S, Hkv, D) and values v into the cache, in place: token i of sequence b becomes key
    /// `lengths[b] + i`. Lengths are not changed. Tokens without a place are not written.
    ///
    /// Other tensors of the call are not in the memory of `kv`, which candle locks while it is written.
    pub fn append(&self, k: &Tensor, v: &Tensor, rotary: Option<&CacheRotary>) -> Result<()> {
        let (cos, sin) = (rotary.map(|rotary| &rotary.cos), rotary.map(|rotary| &rotary.sin));
        no_gradient("KvCache::append", &[Some(&self.kv), Some(k), Some(v), cos, sin])?;
        let [table, lengths] = [&self.table, &self.lengths].map(Option::as_ref);
        let [k_scale, v_scale] = [&self.k_scale, &self.v_scale].map(Option::as_ref);
        apart(
            "KvCache::append",
            &self.kv,
            &[Some(k), Some(v), cos, sin, table, lengths, k_scale, v_scale],
        )?;
        self.kv.inplace_op3(k, v, &Append { cache: self, rotary })
    }

    /// Attention of the last queries of each sequence, q (B, Sq, Hq, D), over the cache: (B, Sq, Hq, D). For Sq up to 128.
    ///
    /// Lengths and tables are read when the kernels run, so a captured call may be replayed with others.
    pub fn attention(&self, q: &Tensor, options: &DecodeOptions) -> Result<Tensor> {
        no_gradient(
            "KvCache::attention",
            &[Some(q), Some(&self.kv), options.sinks.as_ref()],
        )?;
        with_inputs(&[q, &self.kv], |place, inputs| {
            let mut output = place.output(inputs[0].dims(), inputs[0].dtype())?;
            self.decode(place, inputs, &mut output, options)?;
            Ok(output.tensor())
        })
    }

    fn decode(
        &self,
        place: &Place,
        inputs: &[Input],
        output: &mut Output,
        options: &DecodeOptions,
    ) -> Result<()> {
        let (q, kv, to) = (
            place.view(&inputs[0])?,
            place.view(&inputs[1])?,
            output.view(place)?,
        );
        let held = Held::of(options.sinks.as_ref());
        let sinks = held.view(place)?;
        let sinks = dl(&sinks);
        let bound = |keys: Option<usize>| keys.map_or(-1, |keys| keys as i64);
        self.with_cache(place, &kv, |cache, scales| {
            let (q, to) = (q.dl(), to.dl());
            let mut how = kaio_attention_decode_options {
                scale: options.scale.unwrap_or(0.0),
                softcap: options.softcap,
                causal: options.causal.code(),
                batch_invariant: i32::from(options.batch_invariant),
                window_left: bound(options.window.0),
                window_right: bound(options.window.1),
                max_length: options.max_length as i64,
                sinks: pointer(&sinks),
                k_scale: pointer(&scales[0]),
                v_scale: pointer(&scales[1]),
                ..Default::default()
            };
            let mut bytes = 0;
            kaio!(kaio_attention_decode_workspace_bytes(&q, cache, &how, &mut bytes));
            let mut memory = place.workspace(bytes)?;
            let memory = memory.view(place)?.aligned();
            let workspace = memory.dl();
            how.workspace = &workspace;
            kaio!(kaio_attention_decode(place.stream(), &q, cache, &to, &how));
            Ok(())
        })
    }

    /// Calls `f` with the cache of the C interface, and the scales of keys and values.
    fn with_cache<R>(
        &self,
        place: &Place,
        kv: &View,
        f: impl FnOnce(&kaio_kv_cache, &[Option<DLTensor>; 2]) -> Result<R>,
    ) -> Result<R> {
        if kv.rank() != 5 || kv.dims()[0] != 2 {
            bail!(
                "kaio: KvCache: kv has the shape {:?}, and (2, pages, rows, heads, size) is needed",
                kv.dims()
            )
        }
        let (k, v) = (kv.element(0), kv.element(1));
        let (k, v) = (k.dl(), v.dl());
        let held = [&self.table, &self.lengths, &self.k_scale, &self.v_scale]
            .map(|tensor| Held::of(tensor.as_ref()));
        let views = [
            held[0].view(place)?,
            held[1].view(place)?,
            held[2].view(place)?,
            held[3].view(place)?,
        ];
        let indices = [&views[0], &views[1]].map(|view| view.as_ref().map(View::as_index));
        let (table, lengths) = (dl(&indices[0]), dl(&indices[1]));
        let cache = kaio_kv_cache {
            k: &k,
            v: &v,
            table: pointer(&table),
            lengths: pointer(&lengths),
            ..Default::default()
        };
        f(&cache, &[dl(&views[2]), dl(&views[3])])
    }
}

struct Append<'a> {
    cache: &'a KvCache,
    rotary: Option<&'a CacheRotary>,
}

impl Append<'_> {
    fn run(&self, place: &Place, kv: &View, inputs: [Input; 2]) -> Result<()> {
        let (k, v) = (place.view(&inputs[0])?, place.view(&inputs[1])?);
        let held = [
            Held::of(self.rotary.map(|rotary| &rotary.cos)),
            Held::of(self.rotary.map(|rotary| &rotary.sin)),
        ];
        let views = [held[0].view(place)?, held[1].view(place)?];
        let (cos, sin) = (dl(&views[0]), dl(&views[1]));
        let rotary = self.rotary.map(|rotary| kaio_append_rotary {
            interleaved: i32::from(rotary.interleaved),
            cos: pointer(&cos),
            sin: pointer(&sin),
            ..Default::default()
        });
        self.cache.with_cache(place, kv, |cache, scales| {
            let how = kaio_append_kv_options {
                rotary: rotary.as_ref().map_or(std::ptr::null(), |rotary| rotary),
                k_scale: pointer(&scales[0]),
                v_scale: pointer(&scales[1]),
                ..Default::default()
            };
            kaio!(kaio_append_kv(place.stream(), &k.dl(), &v.dl(), cache, &how));
            Ok(())
        })
    }
}

impl InplaceOp3 for Append<'_> {
    fn name(&self) -> &'static str {
        "kaio_append_kv"
    }

    fn cpu_fwd(
        &self,
        s1: &mut CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
        s3: &CpuStorage,
        l3: &Layout,
    ) -> Result<()> {
        let inputs = [Input::Cpu(s2, l2), Input::Cpu(s3, l3)];
        let place = inputs[0].place()?;
        let kv = written_cpu(s1, l1, &place)?;
        self.run(&place, &kv, inputs)
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        s1: &mut candle_core::CudaStorage,
        l1: &Layout,
        s2: &candle_core::CudaStorage,
        l2: &Layout,
        s3: &candle_core::CudaStorage,
        l3: &Layout,
    ) -> Result<()> {
        let inputs = [Input::Gpu(s2, l2), Input::Gpu(s3, l3)];
        let place = inputs[0].place()?;
        let kv = written_gpu(s1, l1, &place)?;
        self.run(&place, &kv, inputs)
    }
}
